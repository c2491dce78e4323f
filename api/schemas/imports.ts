import { importOptions } from '../../domain/exchange/imports/imports.job.ts';
import { closedObject } from '../../domain/kernel/shapes.ts';

/** How an uploaded file is imported. */
export const ImportQuery = closedObject(importOptions);
