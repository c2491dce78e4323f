const browsers: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const systems: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

const nameIn = (names: [RegExp, string][], agent: string) =>
  names.find(([pattern]) => pattern.test(agent))?.[1];

/** Browser and system as people say them, such as "Firefox, Windows", from a `User-Agent`. */
export function deviceOf(agent: string | null | undefined): string | undefined {
  const parts = [nameIn(browsers, agent ?? ''), nameIn(systems, agent ?? '')].filter(Boolean);
  return parts.join(', ') || undefined;
}
