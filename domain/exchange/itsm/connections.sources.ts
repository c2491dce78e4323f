import Type, { type Static } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { closed } from '../../kernel/shapes.ts';

const path = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
const parameter = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_.$~\\[\\]-]{1,100}$', examples: ['limit'], description });

const ways = {
  limit_parameter: Type.Optional(parameter('The parameter that says how many rows a page holds')),
  since_parameter: Type.Optional(
    parameter('The parameter that leaves out rows changed before a moment (RFC 3339)'),
  ),
};
const stable = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'Whether no row is skipped when others come and go between two pages, as with keys or snapshots. Where that is not sure, what is missing from a reading is never taken for gone',
  }),
);

const Paging = Type.Union(
  [
    Type.Object(
      {
        by: Type.Literal('link'),
        next: Type.Optional(path('Where the address of the next page stands; the Link header unless given')),
        is_stable: stable,
        ...ways,
      },
      closed,
    ),
    Type.Object(
      {
        by: Type.Literal('cursor'),
        next: path('Where the cursor of the next page stands'),
        parameter: parameter('The parameter that takes it'),
        is_stable: stable,
        ...ways,
      },
      closed,
    ),
    Type.Object(
      {
        by: Type.Literal('key'),
        parameter: parameter(
          'The parameter that takes the key of the last row, beyond which the page begins',
        ),
        ...ways,
      },
      closed,
    ),
  ],
  { description: 'How a JSON list goes on; without it one answer holds all rows' },
);
export type SourcePaging = Static<typeof Paging>;

export const HttpSource = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z][a-z0-9_-]{0,62}$',
      examples: ['servers'],
      description: 'By which mappings name it as their table',
    }),
    label: Type.Optional(Type.String({ maxLength: 255 })),
    path: Type.String({
      maxLength: 500,
      description: 'Below the address of the connection, with its query; empty: the address itself',
    }),
    format: Type.Union([Type.Literal('csv'), Type.Literal('json'), Type.Literal('ndjson')]),
    key: path('The column whose value names a row for good'),
    updated: Type.Optional(path('The column that tells when a row was last changed')),
    rows: Type.Optional(path('Where in a JSON document the list stands, such as `data.items`')),
    separator: Type.Optional(
      Type.Union([Type.Literal(','), Type.Literal(';'), Type.Literal('\t')], {
        description: 'Of a CSV file; detected unless given',
      }),
    ),
    references: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Type.String({ maxLength: 63 }), {
        maxProperties: 50,
        description: 'Columns that hold the key of a row of another source, by the name of that source',
      }),
    ),
    paging: Type.Optional(Paging),
  },
  closed,
);
/** A list of rows at an address. */
export type HttpSource = Static<typeof HttpSource>;

export const HttpSources = Type.Array(HttpSource, {
  minItems: 1,
  maxItems: 50,
  description: 'For http: the lists that are read there. They are replaced as a whole',
});

// an address reader takes %2e for a dot
const anywhere = /(^|\/)(\.|%2e){1,2}(\/|\?|$)|[\\\s#]|^[a-z][a-z0-9+.-]*:|^\/\//i;

/** What of the sources cannot work, whatever answers there. */
export function sourceFaults(sources: readonly HttpSource[]): FieldError[] {
  const faults: FieldError[] = [];
  const names = sources.map(({ name }) => name);
  sources.forEach(({ name, path: where, format, rows, separator, references, paging }, at) => {
    const fault = (member: string, code: string, message: string) =>
      faults.push({ field: `sources.${at}.${member}`, code, message });
    if (names.indexOf(name) < at) fault('name', 'duplicate', 'is the name of another source');
    if (anywhere.test(where)) fault('path', 'format', 'must be a path below the address of the connection');
    if (format !== 'json' && paging) fault('paging', 'not_offered', 'is for json alone');
    if (format !== 'json' && rows !== undefined) fault('rows', 'not_offered', 'is for json alone');
    if (format !== 'csv' && separator !== undefined) fault('separator', 'not_offered', 'is for csv alone');
    for (const [column, target] of Object.entries(references ?? {})) {
      if (!names.includes(target))
        fault(`references.${column}`, 'unknown_source', `${target} is no source of the connection`);
    }
  });
  return faults;
}
