import Type from 'typebox';
import { importOptions } from '../../domain/imports/imports.job.ts';
import { closed } from '../../domain/shapes.ts';

/** How an uploaded file is imported. */
export const ImportQuery = Type.Object(importOptions, closed);
