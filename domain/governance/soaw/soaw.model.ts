import Type, { type Static } from 'typebox';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, closed, DateOnly, Nullable, OpenObject, TextUpTo, Uuid } from '../../kernel/shapes.ts';
import { type SignedKind, signedColumns, signedStatuses } from '../signatures/signatures.types.ts';

export const soawRights: SignedKind['rights'] = {
  view: 'soaw.view',
  manage: 'soaw.manage',
  sign: 'soaw.sign',
};

/** The card type that a statement can belong to. */
export const INITIATIVE = 'Initiative';

/** Phases of TOGAF's development method, from requirements management to H. */
export const togafPhases = ['RM', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;

export const MAX_NAME = 500;
/** Maximum number of tags in all sections together. */
export const MAX_TAGS = 20_000;
/** Maximum size of a statement, in characters of JSON. */
export const MAX_CONTENT = 900_000;

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
  title: Nullable(TextUpTo(300, 'Stands behind the number in files')),
  content: TextUpTo(
    200_000,
    'HTML. Whatever is not on a closed list of elements and attributes is taken out when it is written.',
  ),
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
export const SectionSchema = Type.Object(
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
export const sections = (
  schema: typeof SectionSchema | ReturnType<typeof Type.Partial<typeof SectionSchema>>,
) =>
  Type.Record(Type.String({ pattern: NUMBER }), schema, {
    additionalProperties: false,
    description: 'By number, such as `1.1`',
  });

/** The head of a statement. */
export const DocumentHead = Type.Partial(Type.Object(info), closed);
/** Its version history. */
export const VersionHistory = Type.Array(Type.Partial(Type.Object(entry), closed), { maxItems: 200 });
/** Its sections in the stored form. */
export const Sections = sections(Type.Partial(SectionSchema, closed));

export type DocumentInfo = Static<typeof DocumentHead>;
export type VersionEntry = Static<typeof VersionHistory>[number];
export type Section = Partial<Static<typeof SectionSchema>>;

/** The content of a statement; sections by their numbers, such as `1.1`. */
export type SoawContent = Pick<
  SoawRow,
  'name' | 'initiative_id' | 'document_info' | 'version_history' | 'sections'
>;

/** A revision of a statement of architecture work. */
export class Soaw extends rowModel('soaws', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: MAX_NAME }),
  initiative_id: Nullable(Type.String({ ...Uuid, description: 'A card of the type Initiative' })),
  document_info: Type.Unsafe<DocumentInfo>(OpenObject),
  version_history: Type.Unsafe<VersionEntry[]>(Type.Array(OpenObject)),
  sections: Type.Unsafe<Record<string, Section>>(OpenObject),
  status: Choice(signedStatuses),
  ...signedColumns,
}) {}
export type SoawRow = RowOf<typeof Soaw>;
