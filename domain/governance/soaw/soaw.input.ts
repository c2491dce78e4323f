import Type from 'typebox';
import { closed, DateOnly, Nullable } from '../../kernel/shapes.ts';
import { togafPhases } from './soaw.types.ts';

const Line = Nullable(Type.String({ maxLength: 500 }));
/** The members of the head. */
export const info = { prepared_by: Line, review_date: Nullable(DateOnly), reviewed_by: Line };
/** The members of an entry of the history. */
export const entry = {
  version: Line,
  date: Nullable(DateOnly),
  revised_by: Line,
  description: Nullable(Type.String({ maxLength: 5000 })),
};
const Cell = Type.String({ maxLength: 10_000 });
const section = {
  title: Nullable(Type.String({ maxLength: 300, description: 'Stands behind the number in files' })),
  content: Type.String({
    maxLength: 200_000,
    description:
      'HTML. Whatever is not on a closed list of elements and attributes is taken out when it is written.',
  }),
  hidden: Type.Boolean({ description: 'Left out of exports' }),
  table_data: Nullable(
    Type.Object(
      {
        columns: Type.Array(Cell, { maxItems: 30 }),
        rows: Type.Array(Type.Array(Cell, { maxItems: 30 }), { maxItems: 1000 }),
      },
      { ...closed, description: 'Plain texts' },
    ),
  ),
  togaf_data: Nullable(
    Type.Partial(Type.Object(Object.fromEntries(togafPhases.map((phase) => [phase, Cell]))), {
      ...closed,
      description: 'Plain texts by phase of the development method: `RM` and `A` to `H`',
    }),
  ),
};
export const Section = Type.Object(
  {
    title: Type.Optional(section.title),
    content: section.content,
    hidden: section.hidden,
    table_data: Type.Optional(section.table_data),
    togaf_data: Type.Optional(section.togaf_data),
  },
  closed,
);
const NUMBER = '^[1-7]\\.[1-9]$';
export const sections = (schema: typeof Section | ReturnType<typeof Type.Partial<typeof Section>>) =>
  Type.Record(Type.String({ pattern: NUMBER }), schema, {
    additionalProperties: false,
    description: 'By number, such as `1.1`',
  });

/** The head of a statement. */
export const DocumentHead = Type.Partial(Type.Object(info), closed);
/** What has become of it, version by version. */
export const VersionHistory = Type.Array(Type.Partial(Type.Object(entry), closed), { maxItems: 200 });
/** Its sections as they are written. */
export const Sections = sections(Type.Partial(Section, closed));
