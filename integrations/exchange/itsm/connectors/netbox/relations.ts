import { RemoteError, type RemoteRecord, type RemoteTombstone, withFallback } from '../../remote.ts';
import type { Connector, RemoteRelation, RemoteRelationType } from '../connector.ts';
import { readListsSequentially } from '../responses.ts';
import type { ChangeLog, ObjectTypes } from './changes.ts';
import type { Reading } from './reading.ts';
import { fieldOf, idOf, isTable, keyOf, type Row } from './records.ts';
import referenceKinds from './relations.json' with { type: 'json' };
import type { Writing } from './writing.ts';

/** A reference column from one table to another; any other can be used as `table:column`. */
type ReferenceKind = (typeof referenceKinds)[number];

/** Cables connect the objects at their ends; they are read only. */
const CABLES = 'dcim/cables';
const cableFields = ['a_terminations', 'b_terminations'];

/** The relation type of a reference: `dcim/devices:site`. */
const typeOf = ({ table, column }: Pick<ReferenceKind, 'table' | 'column'>): string => `${table}:${column}`;
const relationId = (type: string, from: string, to: string): string => `${type}=${from}>${to}`;
const idForm = /^([^=]+)=([^>]+)>(.+)$/;

function partsOf(type: string): { table: string; column: string } {
  if (type === CABLES) throw new RemoteError('refused', CABLES, 'Cables are read only');
  const [table = '', column = '', more] = type.split(':');
  if (isTable(table) && /^[a-z][a-z0-9_.]*$/.test(column) && more === undefined) return { table, column };
  const what = `There is no relation type ${type}; its id is table:column`;
  throw new RemoteError('not_found', `relation ${type}`, what);
}

type Relations = Pick<
  Connector,
  'describeRelationTypes' | 'readRelations' | 'readRelationDeletions' | 'createRelation' | 'deleteRelation'
>;

export function createRelations(
  reading: Reading,
  changes: ChangeLog,
  types: ObjectTypes,
  writing: Pick<Writing, 'update'>,
): Relations {
  return {
    describeRelationTypes: async () => {
      const described: RemoteRelationType[] = referenceKinds.map((one) => ({
        id: typeOf(one),
        name: `${one.table} ${one.column}`,
        forward: one.forward,
        reverse: one.reverse,
      }));
      described.push({ id: CABLES, name: CABLES, forward: 'is cabled to', reverse: 'is cabled from' });
      return described.sort((a, b) => (a.id < b.id ? -1 : 1));
    },

    async readRelations({ types: requested, since, limit, cursor }) {
      const wanted = requested.length > 0 ? requested : [...referenceKinds.map(typeOf), CABLES];
      return await readListsSequentially(wanted, cursor, async (type, within) => {
        const { table, column } = type === CABLES ? { table: CABLES, column: '' } : partsOf(type);
        const request = { table, fields: type === CABLES ? cableFields : [column], limit, cursor: within };
        const { records, next, hasHiddenRows } = await (since === null
          ? reading.readPage(request)
          : reading.readSince({ ...request, since }));
        const relations = records.flatMap((record) =>
          type === CABLES ? cableRelations(record) : referenceRelations(type, column, record),
        );
        return { relations, next, hasHiddenRows };
      });
    },

    async readRelationDeletions(since) {
      const byType = new Map<string, ReferenceKind[]>();
      for (const one of referenceKinds) {
        // NetBox versions without that table have none of its relations
        const type = await withFallback(types.typeOf(one.table), ['not_found'], null);
        if (type !== null) byType.set(type, [...(byType.get(type) ?? []), one]);
      }
      const found = await changes.since([...byType.keys()], ['update', 'delete'], since, true);
      const tombstones = new Map<string, RemoteTombstone>();
      for (const { type, action, key, at, before, after } of found) {
        for (const one of byType.get(type) ?? []) {
          const [was, is] = [before?.[one.column], action === 'update' ? after?.[one.column] : null];
          if (was === is) continue;
          const idTo = (target: number) =>
            relationId(typeOf(one), idOf(one.table, key), idOf(one.target, target));
          if (typeof was === 'number') tombstones.set(idTo(was), { table: typeOf(one), id: idTo(was), at });
          // the same relation, created again, has the same id
          if (typeof is === 'number') tombstones.delete(idTo(is));
        }
      }
      return [...tombstones.values()];
    },

    async createRelation(type, from, to) {
      const { table, column } = partsOf(type);
      const record = await lookAt(table, column, from);
      if (record === null) {
        const what = `The object ${from} that would refer to ${to} is gone`;
        throw new RemoteError('not_found', `table ${table}`, what);
      }
      const { value, display } = record.fields[column] ?? { value: null };
      const id = relationId(type, from, to);
      if (value === to) return id;
      if (value !== null) {
        // the existing target must not be replaced
        const what = `The ${column} of ${from} is already ${display ?? String(value)}, and a reference has one target`;
        throw new RemoteError('refused', `table ${table}`, what);
      }
      await writing.update(table, from, { [column]: to }, record.version);
      return id;
    },

    async deleteRelation(id) {
      const [, type = '', from = '', to = ''] = idForm.exec(id) ?? [];
      const { table, column } = partsOf(type);
      const record = await lookAt(table, column, from);
      if (record?.fields[column]?.value !== to) return false;
      await writing.update(table, from, { [column]: null }, record.version);
      return true;
    },
  };

  async function lookAt(table: string, column: string, id: string): Promise<RemoteRecord | null> {
    const key = keyOf(table, id);
    if (key === undefined)
      throw new RemoteError('refused', `table ${table}`, `${id} is not an object of ${table}`);
    return reading.readObject(table, key, [column]);
  }
}

function referenceRelations(
  type: string,
  column: string,
  { id, fields, updatedAt }: RemoteRecord,
): RemoteRelation[] {
  const to = fields[column]?.value;
  if (typeof to !== 'string' || to === '') return [];
  return [{ id: relationId(type, id, to), type, from: id, to, updatedAt }];
}

/** Relations from each device at one end to each at the other. */
function cableRelations({ id, fields, updatedAt }: RemoteRecord): RemoteRelation[] {
  const [froms, tos] = cableFields.map((name) => endsOf(fields[name]?.value));
  return froms!.flatMap((from) =>
    tos!
      .filter((to) => to !== from)
      .map((to) => ({ id: `${id}=${from}>${to}`, type: CABLES, from, to, updatedAt })),
  );
}

function endsOf(terminations: unknown): string[] {
  const ends = (Array.isArray(terminations) ? terminations : []).flatMap((one: { object?: Row | null }) => {
    const { object } = one;
    const { value } = fieldOf(object?.device ?? object?.circuit ?? object?.power_panel ?? object);
    return typeof value === 'string' ? [value] : [];
  });
  return [...new Set(ends)];
}
