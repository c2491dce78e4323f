import Type from 'typebox';

const open = { additionalProperties: true } as const;
const example = {
  '@odata.context': 'https://estate.example/odata/v4/$metadata#Application(id,name)',
  value: [{ id: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11', name: 'Claims' }],
};

/** Entities of a set, one entity, or a property's value. The metadata document describes the other members. */
export const ODataResponseSchema = Type.Object(
  {
    '@odata.context': Type.Optional(Type.String()),
    '@odata.count': Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.String()])),
    '@odata.nextLink': Type.Optional(Type.String()),
    '@odata.deltaLink': Type.Optional(Type.String()),
  },
  { ...open, $id: 'ODataAnswer', examples: [example] },
);

export const ODataServiceSchema = Type.Object(
  {
    '@odata.context': Type.Optional(Type.String()),
    value: Type.Array(
      Type.Object({
        name: Type.String(),
        title: Type.String(),
        kind: Type.Literal('EntitySet'),
        url: Type.String(),
      }),
    ),
  },
  { $id: 'ODataService' },
);

export const ODataErrorSchema = Type.Object(
  {
    error: Type.Object({
      code: Type.String(),
      message: Type.String(),
      target: Type.Optional(Type.String({ description: 'The invalid option' })),
      details: Type.Optional(
        Type.Array(Type.Object({ code: Type.String(), message: Type.String(), target: Type.String() })),
      ),
      innererror: Type.Object({ request_id: Type.String(), position: Type.Optional(Type.Integer()) }, open),
    }),
  },
  { $id: 'ODataError' },
);
