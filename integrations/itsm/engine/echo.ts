import type { RemoteRecord } from '../remote.types.ts';
import type { Pair } from './book.types.ts';
import type { Mapping } from './mapping.types.ts';
import { localFields, remoteFields } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import { same } from './values.ts';

/**
 * Whether a record that was read says nothing new: all its mapped fields are as both sides last agreed. That is so for
 * the engine's own writes, which have moved the base, and for changes of what is not mapped.
 */
export function isRemoteEcho(mapping: Mapping, pair: Pair, record: RemoteRecord): boolean {
  const now = remoteFields(mapping, record);
  return mapping.fields.every(({ path }) => {
    const agreed = pair.base[path];
    return agreed !== undefined && same(now[path] ?? null, agreed.remote);
  });
}

/** The same of a card; with it a push that follows the change feed passes over what a pull has written. */
export function isLocalEcho(mapping: Mapping, pair: Pair, card: LocalCard): boolean {
  const now = localFields(mapping, card);
  return mapping.fields.every(({ path }) => {
    const agreed = pair.base[path];
    return agreed !== undefined && same(now[path] ?? null, agreed.local);
  });
}
