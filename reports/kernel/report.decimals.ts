/**
 * Adds decimal numbers exactly, like `numeric` in PostgreSQL.
 * @param texts numbers as PostgreSQL writes `numeric`, without exponents. @returns the text of a JSON number.
 */
export function sumDecimals(texts: readonly string[]): string {
  const scaleOf = (text: string) => text.split('.')[1]?.length ?? 0;
  const scale = texts.reduce((most, text) => Math.max(most, scaleOf(text)), 0);
  const units = texts.map((text) => BigInt(text.replace('.', '') + '0'.repeat(scale - scaleOf(text))));
  const sum = units.reduce((total, one) => total + one, 0n);
  if (scale === 0) return String(sum);
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
