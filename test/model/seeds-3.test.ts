/** A quarter of the seeds of the model (play-share.ts). */
import { playShare } from './play-share.ts';

playShare(2);
