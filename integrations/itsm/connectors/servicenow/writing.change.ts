import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Connector } from '../connector.ts';
import { type Sure, unlessChanged } from '../surely.ts';
import { overwritten } from './overwritten.ts';
import { answerWith, pathOf, recordFrom, textsOf, type WritingParts } from './writing.parts.ts';

const UNSEEN =
  'Somebody changed the record between the last look and this write. The instance does not show what was changed: see its history.';

/** Changes records; what somebody else has written at the same moment is put back. */
export function createChanging(parts: WritingParts): Pick<Connector, 'update'> {
  return {
    async update(table, id, values, version, seen) {
      const wanted = textsOf(values);
      const written = await change(parts, { table, id }, wanted, seen);
      if (!written.ok) return written;
      const { value: record, recovered } = written.value;
      const theirs = await overwritten(parts.transport, record, { wanted, version, seen });
      if (!theirs.ok) return theirs;
      if (theirs.value === 'unknown') return done({ record, recovered, notice: UNSEEN });
      const columns = Object.keys(theirs.value);
      if (columns.length === 0) return done({ record, recovered });
      const back = await change(parts, { table, id }, theirs.value, record.fields);
      if (!back.ok) return back;
      const what = `${doingTo(table)} met a change of ${columns.join(', ')} at the same moment, which was put back`;
      return failed('changed_meanwhile', pathOf(table, id), what);
    },
  };
}

const doingTo = (table: string): string => `Changing a record of ${table}`;

/** Writes values into a record, and looks at it before that is done again. @param seen what it held before. */
async function change(
  { reading, surely }: WritingParts,
  { table, id }: { table: string; id: string },
  wanted: Record<string, string>,
  seen: RemoteRecord['fields'] | undefined,
): Promise<Result<Sure<RemoteRecord>>> {
  const fields = Object.keys(wanted);
  const path = pathOf(table, id);
  const doing = doingTo(table);
  return await surely<RemoteRecord>(
    { method: 'PATCH', path, doing, query: answerWith(fields), body: wanted },
    async () => {
      const looks = await reading.readByIds(table, [id], fields);
      if (!looks.ok) return looks;
      const look = looks.value.get(id);
      if (look?.kind === 'gone') return failed('not_found', path, `The record of ${table} is gone`);
      const stands =
        look?.kind === 'there' && fields.every((name) => look.record.fields[name]?.value === wanted[name]);
      if (stands) return done(look.record);
      const record = look?.kind === 'there' ? look.record : undefined;
      return unlessChanged({ where: path, doing }, record, seen, fields);
    },
    recordFrom(table, fields),
  );
}
