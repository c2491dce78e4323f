import Type from 'typebox';
import { signedStatuses } from '../../domain/signatures/signatures.types.ts';
import { MAX_NAME, togafPhases } from '../../domain/soaw/soaw.types.ts';
import { closed, DateOnly, Nullable, Uuid } from './common.ts';
import { IntegrityMember, RejectionMember, signedMembers } from './signatures.ts';

const Status = Type.Union(signedStatuses.map((status) => Type.Literal(status)));
const Line = Nullable(Type.String({ maxLength: 500 }));
const info = { prepared_by: Line, review_date: Nullable(DateOnly), reviewed_by: Line };
const entry = {
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
const Section = Type.Object(
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
const sections = (schema: typeof Section | ReturnType<typeof Type.Partial<typeof Section>>) =>
  Type.Record(Type.String({ pattern: NUMBER }), schema, {
    additionalProperties: false,
    description: 'By number, such as `1.1`',
  });

const content = {
  name: Type.String({ minLength: 1, maxLength: MAX_NAME }),
  initiative_id: Nullable(Type.String({ ...Uuid, description: 'A card of the type Initiative' })),
  document_info: Type.Object(info, closed),
  version_history: Type.Array(Type.Object(entry, closed)),
  sections: sections(Section),
};
const soaw = {
  id: Uuid,
  ...content,
  initiative_name: Nullable(Type.String()),
  status: Status,
  ...signedMembers,
  rejection: RejectionMember,
};
export const SoawSchema = Type.Object({ ...soaw, integrity: IntegrityMember }, { $id: 'Soaw', ...closed });
/** A statement in a list, cut to the members that were asked for. */
export const SoawItemSchema = Type.Partial(Type.Object(soaw), { $id: 'SoawItem', ...closed });

const optional = {
  initiative_id: Type.Optional(content.initiative_id),
  document_info: Type.Optional(Nullable(Type.Partial(Type.Object(info), closed))),
  version_history: Type.Optional(
    Nullable(Type.Array(Type.Partial(Type.Object(entry), closed), { maxItems: 200 })),
  ),
  sections: Type.Optional(Nullable(sections(Type.Partial(Section, closed)))),
};
export const SoawCreateBody = Type.Object(
  {
    name: content.name,
    ...optional,
    status: Type.Optional(Type.String({ description: '`draft`; others are refused with `use_operation`' })),
  },
  closed,
);
export const SoawPatchBody = Type.Object(
  {
    name: Type.Optional(content.name),
    ...optional,
    status: Type.Optional(
      Nullable(
        Type.String({
          description:
            'By hand a draft becomes `approved`, and back; others are refused with `use_operation`',
        }),
      ),
    ),
  },
  closed,
);
export const soawExample = {
  name: 'One order desk',
  document_info: { prepared_by: 'Architecture', review_date: '2027-01-31' },
  version_history: [{ version: '0.1', date: '2026-11-22', revised_by: 'Architecture', description: 'Draft' }],
  sections: {
    '1.1': { title: 'Background', content: '<p>Orders come in by <b>four</b> systems.</p>', hidden: false },
    '2.1': {
      content: '',
      hidden: false,
      table_data: { columns: ['Role', 'Person'], rows: [['Sponsor', 'Head of sales']] },
    },
  },
};

export const soawSorts = ['created_at', 'updated_at', 'signed_at', 'name', 'status', 'revision_number'];
export const soawFilters = {
  initiative_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those about this initiative' })),
  status: Type.Optional(
    Type.Union(
      signedStatuses.map((status) => Type.Literal(status)),
      { description: 'Only those in this state' },
    ),
  ),
};
