import { done, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import { unlessChanged } from '../surely.ts';
import { pathOf, type WritingParts } from './writing.parts.ts';

/**
 * Removes a record, or a relation. @param seen what it held before.
 * @returns whether there was something to remove.
 */
export async function removeRecord(
  { reading, surely }: WritingParts,
  { table, id, doing }: { table: string; id: string; doing: string },
  seen?: RemoteRecord['fields'],
): Promise<Result<boolean>> {
  const columns = Object.keys(seen ?? {});
  const path = pathOf(table, id);
  const removed = await surely<boolean>(
    { method: 'DELETE', path, doing },
    async () => {
      const looks = await reading.readByIds(table, [id], columns);
      if (!looks.ok) return looks;
      const look = looks.value.get(id);
      if (look?.kind === 'gone') return done(true);
      const record = look?.kind === 'there' ? look.record : undefined;
      return unlessChanged({ where: path, doing }, record, seen, columns);
    },
    () => done(true),
  );
  if (removed.ok) return done(removed.value.value);
  if (removed.failure.code !== 'not_found') return removed;
  // what is kept from the account is answered the same as what is gone
  const looks = await reading.readByIds(table, [id], []);
  if (!looks.ok) return looks;
  return looks.value.get(id)?.kind === 'gone' ? done(false) : removed;
}
