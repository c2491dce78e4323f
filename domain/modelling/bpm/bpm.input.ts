import Type from 'typebox';

/** What an assessment of a process asks for. */
export const ActionItems = Type.Array(
  Type.Record(
    Type.String({ maxLength: 100 }),
    Type.Union([Type.String({ maxLength: 2000 }), Type.Number(), Type.Boolean(), Type.Null()]),
  ),
  { maxItems: 100, description: 'What is to be done, with members of one’s own' },
);

/** What somebody notes about an element beside its links. */
export const CustomFields = Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
  description: 'Fields of one’s own; at most 16 KiB as JSON',
});
