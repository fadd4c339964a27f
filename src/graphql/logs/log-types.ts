/** The types of the messages of the subscription `logs`. */
import type { LogLine, LogMessage, LogNotice, LogNoticeType } from '../../logs/stream/log-message.ts';
import type { Builder } from '../builder/builder.ts';

const noticeTypes: Readonly<Record<LogNoticeType, { readonly description: string }>> = {
  BEGAN: { description: "A container's log is read from now on." },
  RESTARTED: { description: 'The container has started again. The log of its new instance follows.' },
  ENDED: { description: 'The container has ended, and its log is complete.' },
  LEFT: { description: 'The Pod is gone, or is not among the chosen ones any more.' },
  REFUSED: { description: 'The log cannot be read. `code` says why.' },
  INTERRUPTED: { description: 'The connection to the API server was lost. The log goes on from its last line.' },
  NOTHING: {
    description:
      'No Pod is chosen at the beginning, or no chosen Pod has the container. The other names of the place are empty.',
  },
  LEFT_OUT: { description: 'Lines are missing here, because the client took none for too long. `count` of them.' },
};

/** Adds the types of the messages of `logs`. */
export function addLogTypes(builder: Builder): void {
  const noticeType = builder.enumType('LogNoticeType', {
    description: 'What happened to the log of a container.',
    values: noticeTypes,
  });
  const line = builder.objectRef<LogLine>('LogLine').implement({
    description: 'A line of the log of a container.',
    fields: (t) => ({
      cluster: t.exposeString('cluster', { nullable: false }),
      namespace: t.exposeString('namespace', { nullable: false }),
      pod: t.exposeString('pod', { nullable: false }),
      container: t.exposeString('container', { nullable: false }),
      time: t.exposeString('time', {
        description: 'As the kubelet wrote it, in nanoseconds. Null for a line without one.',
      }),
      text: t.exposeString('text', { nullable: false, description: 'Bytes that are not UTF-8 are U+FFFD.' }),
      leftOut: t.exposeInt('leftOut', {
        nullable: false,
        description: 'Bytes at the end of the line that are left out: a line has at most 64 KiB.',
      }),
    }),
  });
  const notice = builder.objectRef<LogNotice>('LogNotice').implement({
    description: 'What happened to the log of a container, before the lines of the same message.',
    fields: (t) => ({
      type: t.field({ type: noticeType, nullable: false, resolve: ({ type }) => type }),
      cluster: t.exposeString('cluster', { nullable: false }),
      namespace: t.exposeString('namespace', { nullable: false }),
      pod: t.exposeString('pod', { nullable: false }),
      container: t.exposeString('container', { nullable: false }),
      message: t.exposeString('message', { nullable: false }),
      code: t.exposeString('code', { description: 'An error code of REFUSED and INTERRUPTED.' }),
      count: t.exposeInt('count', { description: 'Lines of LEFT_OUT.' }),
    }),
  });
  builder.objectRef<LogMessage>('LogMessage').implement({
    description: 'A message of the subscription `logs`: what happened, and then lines in the order of their times.',
    fields: (t) => ({
      notices: t.field({
        type: [notice],
        nullable: { list: false, items: false },
        resolve: ({ notices }) => notices as LogNotice[],
      }),
      lines: t.field({
        type: [line],
        nullable: { list: false, items: false },
        resolve: ({ lines }) => lines as LogLine[],
      }),
    }),
  });
}
