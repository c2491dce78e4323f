import Type from 'typebox';
import { Choice, Nullable, object } from '../../../domain/kernel/shapes.ts';

export const RunStatus = Choice(['queued', 'running', 'succeeded', 'failed', 'cancelled']);
export const RunError = Nullable(object({ code: Type.String(), message: Type.String() }));
