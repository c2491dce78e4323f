/** Adds decimal numbers exactly, like `numeric` in PostgreSQL. */
export class Decimals {
  readonly #scale: number;
  readonly #units: bigint[];

  /** @param texts numbers as PostgreSQL writes `numeric`, without exponents. */
  constructor(texts: readonly string[]) {
    this.#scale = texts.reduce((most, text) => Math.max(most, scaleOf(text)), 0);
    this.#units = texts.map((text) =>
      BigInt(text.replace('.', '') + '0'.repeat(this.#scale - scaleOf(text))),
    );
  }

  /** The sum of a range as the text of a JSON number. */
  sum(numbers: Int32Array, from: number, to: number): string {
    let sum = 0n;
    for (let n = from; n < to; n += 1) sum += this.#units[numbers[n]!]!;
    if (this.#scale === 0) return String(sum);
    const text = String(sum < 0n ? -sum : sum).padStart(this.#scale + 1, '0');
    return `${sum < 0n ? '-' : ''}${text.slice(0, -this.#scale)}.${text.slice(-this.#scale)}`;
  }
}

function scaleOf(text: string): number {
  const point = text.indexOf('.');
  return point < 0 ? 0 : text.length - point - 1;
}
