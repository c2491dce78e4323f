import { ReportBody } from '../../kernel/report.body.ts';
import type { Lists } from '../../kernel/report.links.ts';
import type { NumberedLines } from '../../kernel/report.numbered.ts';
import { bytesOfRelated, type Related, writeRelated } from './capability-heatmap.related.ts';

const BAR = 0x7c;

/** Removes the costs, which follow each line's text after a `|`, from the lines. @returns them by line number. */
export function extractCosts({ bytes, from, to, numbers }: NumberedLines): string[] {
  const texts: string[] = [];
  for (let n = 0; n < numbers.count; n += 1) {
    let bar = to[n]! - 1;
    // for few bytes a loop is faster than `lastIndexOf`
    while (bar > from[n]! && bytes[bar] !== BAR) bar -= 1;
    texts.push(bytes.toString('latin1', bar + 1, to[n]!));
    to[n] = bar;
  }
  return texts;
}

export interface Parts {
  /** Lines without their closing brace, like those of the applications. */
  capabilities: NumberedLines;
  apps: NumberedLines;
  /** The applications of each capability. */
  supporting: Lists;
  /** Costs of the applications, if the caller may see them. */
  costs: string[] | undefined;
  /** Number of risks by capability, if the caller may see them. */
  risks: Int32Array | undefined;
  related: Related;
}

const comma = Buffer.from(',');
const end = Buffer.from(']}');

/**
 * Writes the capabilities, one per line. The text of an application is built once and copied for each of its capabilities.
 * @param isRelated is set for each card related to an application. @param more number of bytes that will follow.
 */
export function writeCapabilities(parts: Parts, isRelated: Uint8Array, more: number): ReportBody {
  const { capabilities, apps, supporting, costs, risks, related } = parts;
  const body = new ReportBody(bytesOf(parts) + more);
  // start and end of each written application
  const [from, to] = [new Int32Array(apps.numbers.count), new Int32Array(apps.numbers.count)];
  body.text('{"items":[\n');
  for (let n = 0; n < capabilities.numbers.count; n += 1) {
    const [first, last] = [supporting.starts[n]!, supporting.starts[n + 1]!];
    if (n > 0) body.text(',\n');
    body.copy(capabilities.bytes, capabilities.from[n], capabilities.to[n]);
    const cost = costs
      ? `,"total_cost":${sumDecimals(Array.from(supporting.items.subarray(first, last), (app) => costs[app]!))}`
      : '';
    const risk = risks ? `,"risk_count":${risks[n]}` : '';
    body.text(`,"app_count":${last - first}${cost}${risk},"apps":[`);
    for (let m = first; m < last; m += 1) {
      const app = supporting.items[m]!;
      if (m > first) body.copy(comma);
      if (to[app] === 0) {
        from[app] = body.length;
        body.copy(apps.bytes, apps.from[app], apps.to[app]);
        writeRelated(body, related, app, isRelated);
        to[app] = body.length;
      } else {
        body.again(from[app]!, to[app]!);
      }
    }
    body.copy(end);
  }
  body.text('\n]');
  return body;
}

/** Bytes of a capability's members about its applications, without their texts. */
const FIGURES = 150;

function bytesOf({ capabilities, apps, supporting, related }: Parts): number {
  let bytes = capabilities.bytes.length + capabilities.numbers.count * FIGURES;
  for (let n = 0; n < supporting.items.length; n += 1) {
    const app = supporting.items[n]!;
    bytes += apps.to[app]! - apps.from[app]! + bytesOfRelated(related, app) + 1;
  }
  return bytes;
}

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
