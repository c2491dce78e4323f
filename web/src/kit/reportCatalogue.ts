import all from '../generated/reports.json';
import { english } from '../messages/en.ts';
import type { Translate } from './messages.tsx';

/** A parameter of a report that a control sets. */
export interface ReportParameter {
  key: string;
  description?: string;
  type?: string;
  format?: string;
  enum?: string[];
  /** What it names. */
  choices?: {
    of: 'types' | 'fields' | 'fields or related types' | 'values';
    card_type?: string;
    field_types?: string[];
    values?: string[];
  };
  default?: unknown;
  minimum?: number;
  maximum?: number;
}

export interface Report {
  /** In its address, such as `bpm/process-map`. */
  name: string;
  summary: string;
  /** All that it needs. */
  permissions: string[];
  parameters: ReportParameter[];
  takesAsOf: boolean;
  takesFilter: boolean;
}

const known = all as Report[];

/** Reports about the person or the service, which other pages show. */
const elsewhere = new Set(['my-workspace', 'admin-dashboard', 'stakeholder-directory', 'dashboard']);

export const reports: readonly Report[] = known.filter(({ name }) => !elsewhere.has(name));

export const reportOf = (name: string): Report | undefined => known.find((report) => report.name === name);

const words = (key: string) => key.charAt(0).toUpperCase() + key.slice(1).replaceAll(/[-_]/g, ' ');

/** A text for what the API description names; its words, if there is none. */
function named(t: Translate, prefix: string, key: string): string {
  const message = `${prefix}.${key.replaceAll('/', '.')}`;
  return message in english ? t(message as keyof typeof english) : words(key.split('/').at(-1)!);
}

/** The title of a report. */
export const titleOf = (t: Translate, name: string): string => named(t, 'reports.name', name);

/** The name of a parameter. */
export const parameterName = (t: Translate, key: string): string => named(t, 'reports.param', key);
