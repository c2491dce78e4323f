import { createRequire } from 'node:module';
import { crc32 } from 'node:zlib';

export { ZipFile } from 'yazl';

// yazl computes the checksum of what it packs in JavaScript, a tenth of the time of a large workbook; zlib has it natively
const { resolve } = createRequire(import.meta.url);
const checksums = createRequire(resolve('yazl'))('buffer-crc32');
checksums.unsigned = (data: Buffer, previous?: number): number => crc32(data, previous);
