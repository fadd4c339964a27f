/**
 * A duration as kubectl prints ages: few digits, coarser with time. Source: HumanDuration of k8s.io/apimachinery/pkg/util/duration.
 *
 *   95 s -> 95s     5 min 4 s -> 5m4s     3 h 10 min -> 3h10m     9 d 2 h -> 9d     800 d -> 2y70d
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return twoParts(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return twoParts(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return twoParts(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 365 * 8 ? twoParts(years, 'y', days % 365, 'd') : `${years}y`;
}

function twoParts(first: number, unit: string, second: number, secondUnit: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${secondUnit}`;
}
