import type { Clock } from '../../clock.ts';
import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Connector, RemoteValues, Written } from '../connector.ts';
import { createSurely, unlessChanged } from '../surely.ts';
import type { ItopConfig } from './config.ts';
import type { Description } from './description.ts';
import type { History } from './history.ts';
import { remoteId, splitId } from './keys.ts';
import { select } from './oql.ts';
import type { Reading } from './reading.ts';
import { reconciled } from './reconciling.ts';
import { outputFields, recordOf, writtenOf } from './records.ts';
import { unknownType } from './relations.ts';
import { linkTypeOf } from './relations.types.ts';
import { type Operation, type Told, type Transport, toldOf } from './transport.ts';

/** What the history keeps of who made a change. */
const commentOf = (correlation: string): string => `Estate ${correlation}`;
const COMMENT = 'Estate';

export type Writing = Pick<
  Connector,
  'create' | 'findCreated' | 'update' | 'delete' | 'createRelation' | 'deleteRelation'
>;

interface Write {
  doing: string;
  operation: Operation;
}

export function createWriting(
  transport: Transport,
  { reading, history, description }: { reading: Reading; history: History; description: Description },
  { config, clock, signal }: { config: ItopConfig; clock: Clock; signal?: AbortSignal },
): Writing {
  const plainly = createSurely({
    transport: transport.plain,
    clock,
    settleMs: config.settleMs,
    ...(signal ? { signal } : {}),
  });

  /** As always; a refusal too may come after the object was stored, such as when a trigger fails. */
  const surely = async <T>(
    { doing, operation }: Write,
    look: () => Promise<Result<T | null>>,
    read: (told: Told) => Result<T>,
  ): Promise<Result<{ value: T; recovered: boolean }>> => {
    const call = transport.callOf({ doing, isRead: false, operation: () => operation });
    const written = await plainly(call, look, (result) => read(toldOf(result)));
    if (written.ok || written.failure.code !== 'refused') return written;
    const found = await look();
    return found.ok && found.value !== null ? done({ value: found.value, recovered: true }) : written;
  };

  const columnsFor = async (table: string, fields: string[]) => {
    const columns = await description.columnsOf(table);
    if (!columns.ok) return columns;
    const output = columns.value.size === 0 ? '*' : outputFields(fields, columns.value);
    return done({ columns: columns.value, output });
  };

  const recordFrom =
    (table: string, fields: string[]) =>
    ({ objects }: Told): Result<RemoteRecord> => {
      const [shown] = objects;
      if (!shown) return failed('answer_lost', `class ${table}`, 'The answer to the write shows no object');
      return done(recordOf(table, shown, fields, new Date(history.now()).toISOString()));
    };

  const findCreated = async (
    table: string,
    correlation: string,
    fields: string[] = [],
  ): Promise<Result<RemoteRecord | null>> => {
    // an empty one would be that of every change
    if (correlation === '') throw new Error('a correlation id must not be empty');
    const made = await history.madeUnder(table, commentOf(correlation));
    if (!made.ok && made.failure.code === 'forbidden') {
      const what = `Whether an object of ${table} was made shows in the history alone, which the account may not read`;
      return failed('answer_lost', `class ${table}`, what);
    }
    if (!made.ok) return made;
    const ids = made.value.map((one) => remoteId(one.class, one.key));
    const looks = await reading.readByIds(table, ids, fields);
    if (!looks.ok) return looks;
    const there = [...looks.value.values()].flatMap((look) => (look.kind === 'there' ? [look.record] : []));
    if (there.length > 1) {
      return failed('ambiguous', `class ${table}`, `Several objects of ${table} were made under one comment`);
    }
    return done(there[0] ?? null);
  };

  /** What a record has to hold, as the service takes it, and whether it does. */
  const wantedOf = (columns: ReadonlySet<string>, values: RemoteValues) => {
    const fields = Object.keys(values);
    const wanted = Object.fromEntries(fields.map((name) => [name, writtenOf(columns, name, values[name]!)]));
    const holds = (record: RemoteRecord, name: string): boolean => {
      const { value = '', display = '' } = record.fields[name] ?? {};
      const asked = wanted[name]!;
      if (typeof asked === 'object') return display === asked.name;
      const stored = writtenOf(columns, name, value === '' ? null : (value as string));
      return String(stored) === String(asked);
    };
    return { fields, wanted, holds };
  };

  const update: Writing['update'] = async (table, id, values, _version, seen) => {
    const key = splitId(id);
    const where = `class ${table}`;
    const doing = `Changing an object of ${table}`;
    if (!key) return failed('not_found', where, `${id} is no id of an object`);
    const fields = Object.keys(values);
    const about = await columnsFor(table, fields);
    if (!about.ok) return about;
    const { columns, output } = about.value;
    const { wanted, holds } = wantedOf(columns, values);
    const written = await surely<RemoteRecord>(
      {
        doing,
        operation: {
          operation: 'core/update',
          comment: COMMENT,
          class: key.className,
          key: key.key,
          fields: wanted,
          output_fields: output,
        },
      },
      async () => {
        const looks = await reading.readByIds(table, [id], fields);
        if (!looks.ok) return looks;
        const look = looks.value.get(id);
        if (look?.kind === 'gone') return failed('not_found', where, `The object ${id} is gone`);
        const record = look?.kind === 'there' ? look.record : undefined;
        return record && fields.every((name) => holds(record, name))
          ? done(record)
          : unlessChanged({ where, doing }, record, seen, fields);
      },
      recordFrom(table, fields),
    );
    return written.ok ? done({ record: written.value.value, recovered: written.value.recovered }) : written;
  };

  /**
   * The object that is there already under the reconciliation keys, with the values that it did not hold; null where there is
   * none. It is taken again by a second try: it then holds what was written.
   */
  const adopt = async (
    table: string,
    values: RemoteValues,
    columns: ReadonlySet<string>,
  ): Promise<Result<Written | null>> => {
    const { reconciliation = {} } = config;
    const keys = Object.hasOwn(reconciliation, table) ? reconciliation[table]! : [];
    if (keys.length === 0) return done(null);
    const found = await reconciled(transport, { table, keys, columns }, values);
    if (!found.ok || !found.value) return found as Result<null>;
    const record = found.value;
    const { fields, holds } = wantedOf(columns, values);
    const other = fields.filter((name) => !holds(record, name));
    if (other.length === 0) return done({ record, recovered: false, adopted: true });
    const changes = Object.fromEntries(other.map((name) => [name, values[name]!]));
    const written = await update(table, record.id, changes, undefined, record.fields);
    if (!written.ok) return written;
    const now = { ...written.value.record, fields: { ...record.fields, ...written.value.record.fields } };
    return done({ record: now, recovered: written.value.recovered, adopted: true });
  };

  const remove = async (table: string, id: string, doing: string): Promise<Result<boolean>> => {
    const key = splitId(id);
    if (!key) return done(false);
    const look = async (): Promise<Result<boolean>> => {
      const looks = await reading.readByIds(table, [id], []);
      return looks.ok ? done(looks.value.get(id)?.kind === 'gone') : looks;
    };
    const removed = await surely<boolean>(
      {
        doing,
        operation: {
          operation: 'core/delete',
          comment: COMMENT,
          class: key.className,
          key: key.key,
          simulate: false,
        },
      },
      async () => {
        const gone = await look();
        return gone.ok ? done(gone.value || null) : gone;
      },
      ({ message, found }) => done(/Deleted: \d/.test(message) ? found > 0 : true),
    );
    if (removed.ok) return done(removed.value.value);
    if (removed.failure.code === 'not_found') return done(false);
    if (removed.failure.code !== 'refused') return removed;
    // one code stands for whatever goes wrong inside: whether the object is there tells more than the words
    const gone = await look();
    return gone.ok && gone.value ? done(false) : removed;
  };

  return {
    findCreated: (table, correlation) => findCreated(table, correlation),

    async create(table, values, correlation) {
      const fields = Object.keys(values);
      const about = await columnsFor(table, fields);
      if (!about.ok) return about;
      const { columns, output } = about.value;
      const given = Object.entries(values).filter(([, value]) => value !== null);
      const adopted = await adopt(table, Object.fromEntries(given), columns);
      if (!adopted.ok) return adopted;
      if (adopted.value) return done(adopted.value);
      const written = await surely(
        {
          doing: `Creating an object of ${table}`,
          operation: {
            operation: 'core/create',
            comment: commentOf(correlation),
            class: table,
            fields: Object.fromEntries(given.map(([name, value]) => [name, writtenOf(columns, name, value)])),
            output_fields: output,
          },
        },
        () => findCreated(table, correlation, fields),
        recordFrom(table, fields),
      );
      return written.ok ? done({ record: written.value.value, recovered: written.value.recovered }) : written;
    },

    update,

    delete: (table, id) => remove(table, id, `Deleting an object of ${table}`),

    async createRelation(type, from, to) {
      const link = linkTypeOf(type);
      if (!link) return unknownType(type);
      const [source, target] = [splitId(from), splitId(to)];
      if (!source || !target) {
        return failed('not_found', `class ${link.class}`, 'One end of the relation is no id of an object');
      }
      const ends = [
        [link.from.attribute, source.key],
        [link.to.attribute, target.key],
      ] as const;
      const shown = ({ objects }: Told): string | undefined =>
        objects[0] && remoteId(objects[0].class, objects[0].key);
      const written = await surely<string>(
        {
          doing: 'Creating a relation',
          operation: {
            operation: 'core/create',
            comment: COMMENT,
            class: link.class,
            fields: Object.fromEntries(ends),
            output_fields: 'id',
          },
        },
        async () => {
          const asked = await transport.ask({
            doing: 'Looking up a relation',
            isRead: true,
            operation: () => ({
              operation: 'core/get',
              class: link.class,
              key: select(
                link.class,
                ends.map(([attribute, key]) => `${attribute} = ${key}`),
              ),
              output_fields: 'id',
              limit: 2,
              page: 1,
            }),
          });
          if (!asked.ok) return asked;
          const result = asked.value;
          if (result.found > 1) {
            return failed('ambiguous', `class ${link.class}`, 'Several links lead from the one to the other');
          }
          return done(shown(result) ?? null);
        },
        (told) => {
          const id = shown(told);
          return id === undefined
            ? failed('answer_lost', link.class, 'The answer shows no relation')
            : done(id);
        },
      );
      return written.ok ? done(written.value.value) : written;
    },

    deleteRelation: (id) => remove(splitId(id)?.className ?? '', id, 'Deleting a relation'),
  };
}
