import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';

/** The metamodel as if no type was hidden, for what reads all cards. */
export function withHiddenTypes(metamodel: Metamodel): Metamodel {
  return { ...metamodel, visibleTypes: [...metamodel.cardTypes.keys()], hiddenTypes: [] };
}
