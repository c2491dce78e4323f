import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord, RemoteTombstone } from '../../remote.types.ts';
import type { Connector, RemoteRelation, RemoteRelationType } from '../connector.ts';
import type { ChangeLog } from './changes.ts';
import { idOf, isTable, keyOf } from './ids.ts';
import type { ObjectTypes } from './object-types.ts';
import type { Reading } from './reading.ts';
import { fieldOf, type Row } from './records.ts';
import { type ReferenceKind, referenceKinds } from './relations.catalogue.ts';
import type { Writing } from './writing.ts';

/** Cables join what they end at; they are drawn over there alone. */
const CABLES = 'dcim/cables';
const cableFields = ['a_terminations', 'b_terminations'];

/** A reference as a kind of relation: `dcim/devices:site`. */
const typeOf = ({ table, column }: Pick<ReferenceKind, 'table' | 'column'>): string => `${table}:${column}`;
const relationId = (type: string, from: string, to: string): string => `${type}=${from}>${to}`;
const idForm = /^([^=]+)=([^>]+)>(.+)$/;

function partsOf(type: string): { table: string; column: string } | undefined {
  const [table = '', column = '', more] = type.split(':');
  return isTable(table) && /^[a-z][a-z0-9_.]*$/.test(column) && more === undefined
    ? { table, column }
    : undefined;
}

type Relations = Pick<
  Connector,
  'describeRelationTypes' | 'readRelations' | 'relationDeletionsSince' | 'createRelation' | 'deleteRelation'
>;

export function createRelations(
  reading: Reading,
  changes: ChangeLog,
  types: ObjectTypes,
  writing: Pick<Writing, 'update'>,
): Relations {
  const noType = (type: string) =>
    failed('not_found', `relation ${type}`, `There is no kind of relation ${type}: it is named table:column`);

  return {
    describeRelationTypes: async () => {
      const told: RemoteRelationType[] = referenceKinds.map((one) => ({
        id: typeOf(one),
        name: `${one.table} ${one.column}`,
        forward: one.forward,
        reverse: one.reverse,
      }));
      told.push({ id: CABLES, name: CABLES, forward: 'is cabled to', reverse: 'is cabled from' });
      return done(told.sort((a, b) => (a.id < b.id ? -1 : 1)));
    },

    async readRelations({ types: asked, since, limit, cursor }) {
      const wanted = asked.length > 0 ? asked : [...referenceKinds.map(typeOf), CABLES];
      const at = cursor === null ? { index: 0, page: null } : (JSON.parse(cursor) as Place);
      const type = wanted[at.index];
      if (type === undefined) return done({ relations: [], next: null, withheld: false });
      const parts = type === CABLES ? { table: CABLES, column: '' } : partsOf(type);
      if (!parts) return noType(type);
      const request = {
        table: parts.table,
        fields: type === CABLES ? cableFields : [parts.column],
        limit,
        cursor: at.page,
      };
      const page =
        since === null ? await reading.readPage(request) : await reading.readSince({ ...request, since });
      if (!page.ok) return page;
      const relations = page.value.records.flatMap((record) =>
        type === CABLES ? cabled(record) : referred(type, parts.column, record),
      );
      const onward: Place =
        page.value.next === null
          ? { index: at.index + 1, page: null }
          : { index: at.index, page: page.value.next };
      const next = onward.index < wanted.length ? JSON.stringify(onward) : null;
      return done({ relations, next, withheld: page.value.withheld });
    },

    async relationDeletionsSince(since) {
      const byType = new Map<string, ReferenceKind[]>();
      for (const one of referenceKinds) {
        const type = await types.typeOf(one.table);
        if (type.ok) byType.set(type.value, [...(byType.get(type.value) ?? []), one]);
        // a version without that table has none of its relations
        else if (type.failure.code !== 'not_found') return type;
      }
      const found = await changes.since([...byType.keys()], ['update', 'delete'], since, true);
      if (!found.ok) return found;
      const tombstones = new Map<string, RemoteTombstone>();
      for (const { type, action, key, at, before, after } of found.value) {
        for (const one of byType.get(type) ?? []) {
          const [was, is] = [before?.[one.column], action === 'update' ? after?.[one.column] : null];
          if (was === is) continue;
          const idTo = (target: number) =>
            relationId(typeOf(one), idOf(one.table, key), idOf(one.target, target));
          if (typeof was === 'number') tombstones.set(idTo(was), { table: typeOf(one), id: idTo(was), at });
          // the same relation again has the same key
          if (typeof is === 'number') tombstones.delete(idTo(is));
        }
      }
      return done([...tombstones.values()]);
    },

    async createRelation(type, from, to) {
      const parts = partsOf(type);
      if (!parts) return type === CABLES ? readOnly() : noType(type);
      const { table, column } = parts;
      const looked = await lookAt(table, column, from);
      if (!looked.ok) return looked;
      if (looked.value === null)
        return failed('not_found', `table ${table}`, `The object ${from} that would refer to ${to} is gone`);
      const { value, display } = looked.value.fields[column] ?? { value: null };
      const id = relationId(type, from, to);
      if (value === to) return done(id);
      if (value !== null) {
        // one place: whoever filled it may not lose it to us
        const what = `The ${column} of ${from} is ${display ?? String(value)} already, and can be one alone`;
        return failed('refused', `table ${table}`, what);
      }
      const written = await writing.update(table, from, { [column]: to }, looked.value.version);
      return written.ok ? done(id) : written;
    },

    async deleteRelation(id) {
      const [, type = '', from = '', to = ''] = idForm.exec(id) ?? [];
      const parts = partsOf(type);
      if (!parts) return type === CABLES ? readOnly() : noType(type);
      const { table, column } = parts;
      const looked = await lookAt(table, column, from);
      if (!looked.ok) return looked;
      if (looked.value?.fields[column]?.value !== to) return done(false);
      const written = await writing.update(table, from, { [column]: null }, looked.value.version);
      return written.ok ? done(true) : written;
    },
  };

  async function lookAt(table: string, column: string, id: string): Promise<Result<RemoteRecord | null>> {
    const key = keyOf(table, id);
    if (key === undefined) return failed('refused', `table ${table}`, `${id} is no object of ${table}`);
    return reading.lookAt(table, key, [column]);
  }
}

interface Place {
  index: number;
  page: string | null;
}

const readOnly = () => failed('refused', CABLES, 'Cables are read only: they are drawn in NetBox');

function referred(type: string, column: string, { id, fields, updatedAt }: RemoteRecord): RemoteRelation[] {
  const to = fields[column]?.value;
  if (typeof to !== 'string' || to === '') return [];
  return [{ id: relationId(type, id, to), type, from: id, to, updatedAt }];
}

/** From each device at one end to each at the other. */
function cabled({ id, fields, updatedAt }: RemoteRecord): RemoteRelation[] {
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
    const owner = object?.device ?? object?.circuit ?? object?.power_panel ?? object;
    const { value } = fieldOf(owner);
    return typeof value === 'string' ? [value] : [];
  });
  return [...new Set(ends)];
}
