import { createHash } from 'node:crypto';
import type { MatchModel } from './matching.types.ts';

/** The hash of a model's content, independent of the order of members. */
export const modelId = (model: MatchModel): string =>
  createHash('sha256').update(canonical(model)).digest('hex').slice(0, 32);

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join()}}`;
}
