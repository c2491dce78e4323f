import Type, { type TSchema } from 'typebox';
import { fieldTypes } from '../../kernel/metamodel/metamodel.types.ts';
import { Choice, closed } from '../../kernel/shapes.ts';

/* What definitions of types are made of, as they are sent and as they are stored. */

/** A non-blank text on one line. */
export const line = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', ...(description ? { description } : {}) });

export const Label = line(200);
export const Translations = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Record(Type.String(), Type.String())]),
  {
    description:
      'Texts by member and language, or by language for the label alone. Tags as in RFC 5646, such as `de` or `pt-BR`.',
    examples: [{ label: { de: 'Anwendung' } }],
  },
);

/** Keys are used in URLs, columns and formulas. */
export const Key = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$', examples: ['dataCentre'] });
const OptionKey = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}$', examples: ['critical'] });
export const RoleKey = Type.String({
  pattern: '^[a-z][a-z0-9_]{1,48}[a-z0-9]$',
  examples: ['data_steward'],
});

export const FieldTypeName = Choice(fieldTypes);
const option = {
  key: OptionKey,
  label: Label,
  color: Type.Optional(Type.String({ maxLength: 50, pattern: '^#[0-9a-fA-F]{3,8}$|^[a-z]+$' })),
  translations: Type.Optional(Translations),
};
const Options = (item: TSchema) => Type.Array(item, { maxItems: 1_000 });

const Field = Type.Object(
  {
    key: Key,
    label: Label,
    type: FieldTypeName,
    weight: Type.Number({ minimum: 0, maximum: 1_000, default: 1, description: 'Share in the data quality' }),
    required: Type.Optional(Type.Boolean()),
    readonly: Type.Optional(Type.Boolean()),
    options: Type.Optional(Options(Type.Object(option, closed))),
    translations: Type.Optional(Translations),
  },
  closed,
);

export const Section = Type.Object(
  {
    section: line(100),
    fields: Type.Array(Field, { maxItems: 500 }),
    translations: Type.Optional(Translations),
    columns: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
    groups: Type.Optional(Type.Array(line(100), { maxItems: 50 })),
  },
  closed,
);

export const Subtype = Type.Object(
  {
    key: OptionKey,
    label: Label,
    translations: Type.Optional(Translations),
    hidden_fields: Type.Optional(Type.Array(Key, { maxItems: 500 })),
  },
  closed,
);

export const Attribute = Type.Object(
  {
    key: Key,
    label: Label,
    type: FieldTypeName,
    options: Type.Optional(
      Options(
        Type.Object(
          {
            ...option,
            built_in: Type.Optional(Type.Boolean({ description: 'Read-only' })),
            is_hidden: Type.Optional(Type.Boolean()),
          },
          closed,
        ),
      ),
    ),
    built_in: Type.Optional(Type.Boolean({ description: 'Read-only' })),
    translations: Type.Optional(Translations),
  },
  closed,
);

export const Permissions = Type.Record(Type.String(), Type.Boolean(), {
  description: 'Card permissions by key; omitted permissions are not granted',
});
