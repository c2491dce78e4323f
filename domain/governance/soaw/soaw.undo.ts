import type { UndoSpec } from '../../kernel/undo/undo.types.ts';
import { signedUndo } from '../signatures/signatures.undo.ts';
import { soawKind } from './soaw.kind.ts';

/** Statements of architecture work. */
export const soawUndo: UndoSpec[] = [signedUndo(soawKind)];
