import german from '../messages/de.json' with { type: 'json' };
import english from '../messages/en.json' with { type: 'json' };
import { createTexts } from './charts/charts.texts.ts';

/** A text of the charts of reports. */
export const reportText = createTexts({ en: english, de: german });
