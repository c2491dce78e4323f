import { isRemoteError, RemoteError, withFallback } from '../../remote.ts';
import type { Connector, RemoteColumn } from '../connector.ts';
import { absentColumns, byName, searchTables } from '../responses.ts';
import { isReference, standardClasses, standardLinkTypes, standardTarget } from './records.ts';
import { findFilterProblem, type ItopResponse, type ItopTransport, namesInFilter } from './transport.ts';

/** Number of objects from which the attributes of a class are derived. */
const SAMPLE = 20;

export interface Description
  extends Pick<
    Connector,
    'describeTables' | 'describeFields' | 'describeRelationTypes' | 'findUnknownColumns' | 'findHiddenColumns'
  > {
  /** The attributes of a class in responses; empty while it has no object. */
  columnsOf(table: string): Promise<ReadonlySet<string>>;
}

/** The service has no description of its classes: they are those of the public data model; attributes are those of sample objects. */
export function createDescription(transport: Pick<ItopTransport, 'get'>): Description {
  const known = new Map<string, ReadonlySet<string>>();

  const sampleOf = (table: string, condition = '', limit = SAMPLE): Promise<ItopResponse> =>
    transport.get({
      class: table,
      conditions: [condition],
      fields: limit === 1 ? 'id' : '*',
      limit,
      doing: `Reading ${table}`,
    });

  const columnNames = ({ objects }: ItopResponse): Set<string> =>
    new Set(objects.flatMap(({ fields }) => Object.keys(fields)));

  const isStandard = (table: string): boolean => standardClasses.some(({ name }) => name === table);

  return {
    async columnsOf(table) {
      const columns = known.get(table);
      if (columns) return columns;
      const names = columnNames(await sampleOf(table));
      if (names.size > 0) known.set(table, names);
      return names;
    },

    async describeTables(search = '') {
      // the list is constant, but only returned to an account that can log in
      await withFallback(sampleOf('Organization', '', 1), ['not_found', 'forbidden'], null);
      const tables = [...standardClasses];
      const className = search.trim();
      if (/^[A-Za-z]\w*$/.test(className) && !isStandard(className)) {
        const found = await withFallback(sampleOf(className, '', 1), ['not_found', 'forbidden'], null);
        if (found) tables.push({ name: className, label: className, parent: null });
      }
      return searchTables(tables, search);
    },

    async describeFields(table) {
      const sample = await sampleOf(table);
      const cells = sample.objects.map(({ fields }) => fields);
      const columns = columnNames(sample);
      const described = [...columns]
        .filter((name) => !/_finalclass_recall$/.test(name))
        .map((name): RemoteColumn => {
          const refers = isReference(columns, name);
          const compound = cells.some((fields) => typeof fields[name] === 'object' && fields[name] !== null);
          return {
            name,
            label: name,
            // other kinds could only be guessed from values, and would change with them
            kind: compound ? 'other' : refers ? 'reference' : 'text',
            remoteKind: compound ? 'set' : refers ? 'external key' : 'attribute',
            reference: refers ? (standardTarget(table, name) ?? null) : null,
            maxLength: null,
            mandatory: false,
            choices: [],
          };
        });
      return described.sort(byName);
    },

    async describeRelationTypes() {
      return standardLinkTypes;
    },

    async findHiddenColumns(table, fields) {
      const { objects } = await sampleOf(table);
      // rights apply to classes, not to attributes: an attribute that no object has no longer exists
      return absentColumns(objects, fields, ({ fields: cells }, name) => cells[name]);
    },

    async findUnknownColumns(table, filter) {
      const problem = findFilterProblem(filter);
      if (problem) throw new RemoteError('refused', `class ${table}`, `The filter ${problem}`);
      const names = namesInFilter(filter);
      if (names.length === 0) return [];
      try {
        await sampleOf(table, filter, 1);
        return [];
      } catch (error) {
        // the service refuses unknown names
        if (!isRemoteError(error, 'refused')) throw error;
        const columns = columnNames(await sampleOf(table));
        const unknown = columns.size === 0 ? [] : names.filter((name) => name !== 'id' && !columns.has(name));
        if (unknown.length > 0) return unknown;
        throw error;
      }
    },
  };
}
