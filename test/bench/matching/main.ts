import { benchMatching } from './bench.ts';

benchMatching(process.argv.slice(2));
