import type { TProperties } from 'typebox';
import { object, Position } from '../../domain/kernel/shapes.ts';

/** The named response schema of a report, with its position in the change feed. */
export const reportSchema = <const T extends TProperties>($id: string, members: T) =>
  object({ ...members, position: Position }, { $id });
