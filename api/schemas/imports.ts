import Type from 'typebox';
import { importOptions } from '../../domain/jobs/kinds/import.ts';
import { closed } from '../../domain/shapes.ts';

/** How an uploaded file is imported. */
export const ImportQuery = Type.Object(importOptions, closed);
