import Type, { type TSchema } from 'typebox';
import { closed, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';

/** The most elements of a list that one call gives. */
export const MOST_ITEMS = 100;

/** An id, such as that of a card, a job or a batch. */
export const Id = (description: string) => Type.String({ ...Uuid, description });
export const Key = (description: string) => Type.String({ minLength: 1, maxLength: 100, description });

export const PageSize = Type.Integer({
  minimum: 1,
  maximum: MOST_ITEMS,
  default: 20,
  description: 'How many of them one answer holds',
});
export const Cursor = Type.Optional(
  Type.String({
    maxLength: 1000,
    description: '`next_cursor` of the answer before; absent: from the beginning',
  }),
);

/** Members of every answer. */
const cuts = {
  cuts: Type.Array(Type.Object({ path: Type.String(), shown: Type.Integer(), of: Type.Integer() }, closed), {
    description: 'Lists and texts that are longer than what is shown',
  }),
};

/** The answer of a tool, with what was cut from it. */
export const answer = <T extends Record<string, TSchema>>(members: T) =>
  Type.Object({ ...members, ...cuts }, closed);

/** An object whose members depend on the metamodel, or are those of the operation of the same name. */
export const Thing = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

/** The answer of a tool that lists. */
export const listed = (description: string) =>
  answer({
    items: Type.Array(OpenObject, { description }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Where the next call goes on; null at the end',
    }),
  });

/** Parameters of an operation, as its query has them. */
export const Parameters = (description: string) =>
  Type.Record(
    Type.String({ maxLength: 100 }),
    Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'], maxLength: 4000 }),
    { default: {}, description },
  );
