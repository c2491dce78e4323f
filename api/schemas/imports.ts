import { importOptions } from '../../domain/exchange/imports/imports.job.ts';
import { object } from '../../domain/kernel/shapes.ts';

/** How an uploaded file is imported. */
export const ImportQuery = object(importOptions);
