import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';

/** The metamodel with all types visible, for code that reads all cards. */
export function withHiddenTypes(metamodel: Metamodel): Metamodel {
  return { ...metamodel, visibleTypes: [...metamodel.cardTypes.keys()], hiddenTypes: [] };
}
