import type { ConsumerKind, Reference, Work } from '../context.ts';
import type { Metamodel } from './metamodel.compile.ts';

/** Declares a kind of consumers, whose content has a type. */
export const defineConsumers = <C>(
  kind: Omit<ConsumerKind, 'references' | 'write'> & {
    references(content: C, metamodel: Metamodel): Iterable<Reference>;
    write?(work: Work, id: string, content: C): Promise<void>;
  },
): ConsumerKind => ({
  ...kind,
  references: (content, metamodel) => kind.references(content as C, metamodel),
  ...(kind.write && {
    write: (work: Work, id: string, content: unknown) => kind.write!(work, id, content as C),
  }),
});
