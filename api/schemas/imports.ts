import Type from 'typebox';
import { importOptions } from '../../domain/exchange/imports/imports.job.ts';
import { closed } from '../../domain/kernel/shapes.ts';

/** How an uploaded file is imported. */
export const ImportQuery = Type.Object(importOptions, closed);
