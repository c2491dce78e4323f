import type pg from 'pg';
import type { Api } from './api.ts';
import type { BenchArgs } from './args.ts';
import type { Row } from './rows.ts';
import type { Service } from './service.ts';
import type { LandscapeLoad } from './workspace.ts';

/** What a scenario works with; one service for all of them. */
export interface Context {
  args: BenchArgs;
  service: Service;
  /** A superuser's connection to the service's database. */
  client: pg.Client;
  api: Api;
  /** Imports the landscape the first time it is called; later calls return the same. */
  loadLandscape(): Promise<LandscapeLoad>;
  /** Measures U, in milliseconds. */
  unit(): Promise<number>;
  log(text: string): void;
}

/** A part of the bench that measures some figures. */
export interface Scenario {
  name: string;
  /** It takes long, and runs only if it is named. */
  onlyNamed?: boolean;
  /** It loads what it needs itself; the landscape is loaded for all others. */
  loadsItself?: boolean;
  run(context: Context): Promise<Row[]>;
}
