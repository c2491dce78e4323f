import { done, failed, type RemoteFailure, type Result } from '../../remote.failures.ts';
import type { RemoteColumn, RemoteRelationType, RemoteTable } from '../connector.ts';
import { standardClasses } from './classes.data.ts';
import { faultOf, namesInFilter, select } from './oql.ts';
import { isReference, standardTarget } from './records.ts';
import { standardLinkTypes } from './relations.types.ts';
import type { Told, Transport } from './transport.ts';

/** Objects that a class is described from: attributes are the same for all of them. */
const SAMPLE = 20;

const noColumns: ReadonlySet<string> = new Set();

export interface Description {
  describeTables(search?: string): Promise<Result<RemoteTable[]>>;
  describeFields(table: string): Promise<Result<RemoteColumn[]>>;
  describeRelationTypes(): Promise<Result<RemoteRelationType[]>>;
  unknownInFilter(table: string, filter: string): Promise<Result<string[]>>;
  /** Attributes that no object of the class shows. */
  withheldFields(table: string, fields: string[]): Promise<Result<string[]>>;
  /** The attributes of a class as answers name them; none while it has no object. */
  columnsOf(table: string): Promise<Result<ReadonlySet<string>>>;
}

/** The service describes nothing: what there is, is told by the public data model and by objects. */
export function createDescription(transport: Transport): Description {
  const known = new Map<string, ReadonlySet<string>>();

  const sampleOf = async (table: string, condition = '', limit = SAMPLE): Promise<Result<Told>> => {
    const asked = await transport.ask({
      doing: `Reading ${table}`,
      isRead: true,
      operation: () => ({
        operation: 'core/get',
        class: table,
        key: select(table, [condition]),
        output_fields: limit === 1 ? 'id' : '*',
        limit,
        page: 1,
      }),
    });
    return asked.ok ? done(asked.value) : asked;
  };

  /** Of the class alone, and not of all calls. */
  const isClassAlone = ({ code }: RemoteFailure): boolean => code === 'not_found' || code === 'forbidden';
  const isStandard = (table: string): boolean => standardClasses.some(([name]) => name === table);

  return {
    async columnsOf(table) {
      const columns = known.get(table);
      if (columns) return done(columns);
      const sample = await sampleOf(table);
      if (!sample.ok) return sample;
      const names = new Set(sample.value.objects.flatMap(({ fields }) => Object.keys(fields)));
      if (names.size === 0) return done(noColumns);
      known.set(table, names);
      return done(names);
    },

    async describeTables(search = '') {
      // the list is known, but not told to an account that cannot log in
      const known = await sampleOf('Organization', '', 1);
      if (!known.ok && !isClassAlone(known.failure)) return known;
      const text = search.trim().toLowerCase();
      const tables = standardClasses
        .filter(([name, label]) => `${name} ${label}`.toLowerCase().includes(text))
        .map(([name, label, parent]): RemoteTable => ({ name, label, parent }));
      const given = search.trim();
      if (/^[A-Za-z]\w*$/.test(given) && !isStandard(given)) {
        const found = await sampleOf(given, '', 1);
        if (found.ok) tables.push({ name: given, label: given, parent: null });
        else if (!isClassAlone(found.failure)) return found;
      }
      return done(tables.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },

    async describeFields(table) {
      const sample = await sampleOf(table);
      if (!sample.ok) return sample;
      const cells = sample.value.objects.map(({ fields }) => fields);
      const columns = new Set(cells.flatMap((fields) => Object.keys(fields)));
      const described = [...columns]
        .filter((name) => !/_finalclass_recall$/.test(name))
        .map((name): RemoteColumn => {
          const leads = isReference(columns, name);
          const compound = cells.some((fields) => typeof fields[name] === 'object' && fields[name] !== null);
          return {
            name,
            label: name,
            // other kinds show in values alone, and would change with them
            kind: compound ? 'other' : leads ? 'reference' : 'text',
            remoteKind: compound ? 'set' : leads ? 'external key' : 'attribute',
            reference: leads ? (standardTarget(table, name) ?? null) : null,
            maxLength: null,
            mandatory: false,
            choices: [],
          };
        });
      return done(described.sort((a, b) => (a.name < b.name ? -1 : 1)));
    },

    async describeRelationTypes() {
      return done(standardLinkTypes);
    },

    async withheldFields(table, fields) {
      const sample = await sampleOf(table);
      if (!sample.ok) return sample;
      const { objects } = sample.value;
      // attributes are shown to whoever may read the class: one that no object has is none any more
      return done(
        objects.length === 0
          ? []
          : fields.filter((name) => objects.every(({ fields: cells }) => cells[name] === undefined)),
      );
    },

    async unknownInFilter(table, filter) {
      const fault = faultOf(filter);
      if (fault) return failed('refused', `class ${table}`, `The filter ${fault}`);
      const names = namesInFilter(filter);
      if (names.length === 0) return done([]);
      const tried = await sampleOf(table, filter, 1);
      // the service refuses what it does not know, so that nothing is passed over
      if (tried.ok || tried.failure.code !== 'refused') return tried.ok ? done([]) : tried;
      const sample = await sampleOf(table);
      if (!sample.ok) return sample;
      const columns = new Set(sample.value.objects.flatMap(({ fields }) => Object.keys(fields)));
      const unknown = columns.size === 0 ? [] : names.filter((name) => name !== 'id' && !columns.has(name));
      return unknown.length > 0 ? done(unknown) : tried;
    },
  };
}
