import type { ConsumerKind, Reference } from '../context.ts';
import type { Metamodel } from './metamodel.compile.ts';

/** Declares a kind of consumers, whose content has a type. */
export const defineConsumers = <C>(
  kind: Omit<ConsumerKind, 'references'> & {
    references(content: C, metamodel: Metamodel): Iterable<Reference>;
  },
): ConsumerKind => ({
  ...kind,
  references: (content, metamodel) => kind.references(content as C, metamodel),
});
