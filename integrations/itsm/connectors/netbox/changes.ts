import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteTombstone } from '../../remote.types.ts';
import type { Api } from './api.ts';
import { idOf } from './ids.ts';
import type { ObjectTypes } from './object-types.ts';
import { microsOf, type Row } from './records.ts';

/** Where the change log lies: since 4.1, before. */
const places = ['core/object-changes', 'extras/object-changes'];
const PAGE = 500;
const KEYS = 50;
const OVERLAP_MS = 60_000;

/** An entry of the change log. */
interface Change {
  /** Of the log itself. */
  id: number;
  at: string;
  action: string;
  /** Such as `dcim.device`. */
  type: string;
  key: number;
  before: Row | null;
  after: Row | null;
}

/** What NetBox remembers of changes, for as long as it is set to (90 days unless told otherwise). */
export interface ChangeLog {
  /** Changes of these kinds to objects of these types since a moment of the remote's clock, oldest first. */
  since(types: string[], actions: string[], moment: string, withData: boolean): Promise<Result<Change[]>>;
  /** Which of these objects the log calls deleted; none of them where the account may not read it. */
  deletedAmong(table: string, keys: number[]): Promise<Result<Set<number>>>;
  deletionsSince(table: string, since: string): Promise<Result<RemoteTombstone[]>>;
}

export function createChangeLog(api: Api, types: ObjectTypes): ChangeLog {
  let place: string | undefined;

  /** All entries that fit, in the order in which they were made. */
  const read = async (conditions: [string, string][], withData: boolean): Promise<Result<Change[]>> => {
    const tried = place === undefined ? places : [place];
    let last: Result<Change[]> | undefined;
    for (const where of tried) {
      last = await readFrom(where, conditions, withData);
      if (last.ok) place = where;
      if (last.ok || last.failure.code !== 'not_found') return last;
    }
    return last!;
  };

  const readFrom = async (
    where: string,
    conditions: [string, string][],
    withData: boolean,
  ): Promise<Result<Change[]>> => {
    const fields = ['id', 'time', 'action', 'changed_object_type', 'changed_object_id'];
    if (withData) fields.push('prechange_data', 'postchange_data');
    const changes: Change[] = [];
    for (let after = 0; ; ) {
      const listed = await api.list(
        where,
        (pageSize) =>
          new URLSearchParams([
            ...conditions,
            ['id__gt', String(after)],
            ['ordering', 'id'],
            ['limit', String(pageSize)],
            ['fields', fields.join(',')],
          ]),
        PAGE,
        'Reading the change log',
      );
      if (!listed.ok) return listed;
      const { rows, more } = listed.value;
      changes.push(...rows.flatMap((row) => changeOf(row) ?? []));
      const last = rows.at(-1)?.id;
      if (!more || typeof last !== 'number') return done(changes);
      if (last <= after) return failed('paging_ignored', where, 'Reading the change log does not get on');
      after = last;
    }
  };

  const since: ChangeLog['since'] = async (wanted, actions, moment, withData) => {
    const from = new Date(Date.parse(moment) - OVERLAP_MS).toISOString();
    const found = await read(
      [
        ['time_after', from],
        ...actions.map((action): [string, string] => ['action', action]),
        ...wanted.map((type): [string, string] => ['changed_object_type', type]),
      ],
      withData,
    );
    if (!found.ok) return found;
    // a condition that is not known there is passed over in silence
    return done(
      found.value.filter(
        ({ type, action, at }) => wanted.includes(type) && actions.includes(action) && at >= from,
      ),
    );
  };

  return {
    since,
    async deletedAmong(table, keys) {
      const type = await types.typeOf(table);
      if (!type.ok) return unlessHidden(type);
      const deleted = new Set<number>();
      for (let from = 0; from < keys.length; from += KEYS) {
        const some = keys.slice(from, from + KEYS);
        const found = await read(
          [
            ['action', 'delete'],
            ['changed_object_type', type.value],
            ...some.map((key): [string, string] => ['changed_object_id', String(key)]),
          ],
          false,
        );
        if (!found.ok) return unlessHidden(found);
        for (const change of found.value)
          if (change.action === 'delete' && change.type === type.value) deleted.add(change.key);
      }
      return done(deleted);
    },
    async deletionsSince(table, moment) {
      const type = await types.typeOf(table);
      if (!type.ok) return type;
      const found = await since([type.value], ['delete'], moment, false);
      if (!found.ok) return found;
      return done(found.value.map(({ key, at }) => ({ table, id: idOf(table, key), at })));
    },
  };
}

function changeOf(row: Row): Change | undefined {
  const micros = microsOf(row.time);
  const action = (row.action as { value?: unknown } | null)?.value ?? row.action;
  const { changed_object_id: key, changed_object_type: type } = row;
  if (micros === undefined || typeof row.id !== 'number' || typeof key !== 'number') return undefined;
  return {
    id: row.id,
    at: new Date(Math.floor(micros / 1000)).toISOString(),
    action: String(action),
    type: String(type),
    key,
    before: (row.prechange_data ?? null) as Row | null,
    after: (row.postchange_data ?? null) as Row | null,
  };
}

/** Without the log nothing is known to be deleted; that is no reason to stop. */
function unlessHidden(result: Result<unknown> & { ok: false }): Result<Set<number>> {
  const { code } = result.failure;
  return code === 'forbidden' || code === 'not_found' ? done(new Set()) : result;
}
