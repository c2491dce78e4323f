import type pg from 'pg';
import type { LandscapeFiles } from '../landscape/csv.ts';
import type { BenchArgs } from './args.ts';
import type { Row } from './rows.ts';
import type { Service } from './service.ts';

/** How the landscape came into the service. */
export interface LandscapeLoad {
  /** From sending the first byte to the finished job. */
  cardsMs: number;
  relationsMs: number;
}

/** What a scenario works with; one service for all of them. */
export interface Context {
  args: BenchArgs;
  service: Service;
  /** A superuser's connection to the service's database. */
  client: pg.Client;
  /** The landscape as import files. */
  files: LandscapeFiles;
  /** Imports the landscape the first time it is called, and tells how that went; later calls tell the same. */
  loadLandscape(): Promise<LandscapeLoad>;
  /** U in milliseconds, measured once on the loaded landscape. */
  unit(): Promise<number>;
  /** Tells the reader of the bench what is going on. */
  log(text: string): void;
}

/** A part of the bench that measures some figures. */
export interface Scenario {
  name: string;
  /** It takes long, and is part of no bench that does not name it. */
  onlyNamed?: boolean;
  run(context: Context): Promise<Row[]>;
}
