import { sha256 } from '../../../platform/crypto.ts';
import type { Signatory } from './signatures.types.ts';

/** Whether a signed document is still what was signed; null before it is signed. */
export type Integrity = 'intact' | 'changed' | null;

/**
 * JSON in the canonical form of RFC 8785: members by the code units of their names, no blanks. Numbers must be whole.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256, in hexadecimal, of a document's content in canonical form (UTF-8). */
export const contentHash = (content: Record<string, unknown>): string => sha256(canonicalJson(content));

/** Compares a document with what its signatures are under. */
export function integrityOf(
  content: Record<string, unknown>,
  { content_hash, signatories }: { content_hash: string | null; signatories: readonly Signatory[] },
): Integrity {
  const hashes = [content_hash, ...signatories.map((one) => one.content_hash)].filter(
    (hash) => hash !== null,
  );
  if (hashes.length === 0) return null;
  const now = contentHash(content);
  return hashes.every((hash) => hash === now) ? 'intact' : 'changed';
}
