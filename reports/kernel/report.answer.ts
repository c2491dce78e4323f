import type { TProperties } from 'typebox';
import { object, Position } from '../../domain/kernel/shapes.ts';

/** The answer of a report as a named schema, with the position of the change feed that it includes. */
export const reportAnswer = <const T extends TProperties>($id: string, members: T) =>
  object({ ...members, position: Position }, { $id });
