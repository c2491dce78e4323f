import { done, failed, type Result } from '../../remote.failures.ts';
import type { Connector } from '../connector.ts';
import { lookUpOne } from './writing.lookup.ts';
import { pathOf, type WritingParts } from './writing.parts.ts';
import { removeRecord } from './writing.remove.ts';

const RELATIONS = 'cmdb_rel_ci';
/** What relations lead from and to. */
const ITEMS = 'cmdb_ci';
/** Where the answer to a new relation shows its ends: empty for what is gone, though the instance takes its key. */
const endPaths = { from: 'parent.sys_id', to: 'child.sys_id' } as const;

/** A relation that was made, and the keys of ends of which the answer does not show that they are there. */
interface Related {
  id: string;
  doubtful: string[];
}

/** Makes and removes relations; none is left that leads to a record which is gone. */
export function createRelating(
  parts: WritingParts,
): Pick<Connector, 'createRelation' | 'deleteRelation'> & Required<Pick<Connector, 'findRelation'>> {
  const { reading, surely } = parts;
  const findRelation = async (type: string, from: string, to: string): Promise<Result<string | null>> => {
    const found = await lookUpOne(parts, RELATIONS, { parent: from, child: to, type }, []);
    return found.ok ? done(found.value?.id ?? null) : found;
  };
  return {
    findRelation,
    async createRelation(type, from, to) {
      const written = await surely<Related>(
        {
          method: 'POST',
          path: pathOf(RELATIONS),
          doing: 'Creating a relation',
          query: () => ({ sysparm_fields: ['sys_id', ...Object.values(endPaths)].join(',') }),
          body: { type, parent: from, child: to },
        },
        async () => {
          const found = await findRelation(type, from, to);
          return found.ok
            ? done(found.value === null ? null : { id: found.value, doubtful: [from, to] })
            : found;
        },
        (result) => related(result, from, to),
      );
      if (!written.ok) return written;
      const { id, doubtful } = written.value.value;
      if (doubtful.length === 0) return done(id);
      const looks = await reading.readByIds(ITEMS, doubtful, []);
      if (!looks.ok) return looks;
      const gone = doubtful.find((end) => looks.value.get(end)?.kind === 'gone');
      if (gone === undefined) return done(id);
      const taken = await removeRecord(parts, { table: RELATIONS, id, doing: 'Taking back a relation' });
      if (!taken.ok) return taken;
      const what = 'Creating a relation was taken back: the record at its end is gone';
      return failed('not_found', pathOf(ITEMS, gone), what);
    },
    deleteRelation: (id) => removeRecord(parts, { table: RELATIONS, id, doing: 'Deleting a relation' }),
  };
}

function related(result: unknown, from: string, to: string): Result<Related> {
  const row = (result ?? {}) as Record<string, unknown>;
  if (typeof row.sys_id !== 'string') return failed('answer_lost', RELATIONS, 'The answer shows no relation');
  const isShown = { [from]: row[endPaths.from] === from, [to]: row[endPaths.to] === to };
  return done({ id: row.sys_id, doubtful: [from, to].filter((end) => !isShown[end]) });
}
