/** The names and values of labels. Source: the documentation of Kubernetes, "Labels and Selectors", syntax and character set. */
const namePart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const prefixPart = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a text is a qualified name: `name` or `prefix.example/name`. */
export function isQualifiedName(text: string): boolean {
  const parts = text.split('/');
  const name = parts.pop() ?? '';
  if (parts.length > 1 || name.length > 63 || !namePart.test(name)) return false;
  const [prefix] = parts;
  return prefix === undefined || (prefix.length <= 253 && prefixPart.test(prefix));
}

/** Whether a text is the value of a label. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && namePart.test(text));
}
