import { buffer } from 'node:stream/consumers';
import { fragment } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { checkFile } from '../../collaboration/files/files.check.ts';
import { fileKinds, MAX_ATTACHMENT } from '../../collaboration/files/files.types.ts';
import { identifyImage, MAX_IMAGE } from '../settings/settings.change.ts';
import { skipMatching } from './transfer.diff.ts';
import { type Checking, errorsOf, skipInvalid } from './transfer.rows.ts';
import { blobName } from './workspace.archive.ts';

/** Validates the contents of files like uploads: their type follows from their bytes, and nothing in them is executable. */
export async function checkFiles(checking: Checking): Promise<void> {
  const { archive, read } = checking;
  await skipInvalid(checking, 'files', async (row) => {
    const part = archive.part(blobName(String(row.id)));
    if (!part || part.sha256 !== row.sha256 || part.bytes !== row.size) {
      return [{ field: '', code: 'content_missing', message: 'The archive has no content of the file.' }];
    }
    if (part.bytes > MAX_ATTACHMENT) {
      return [{ field: 'size', code: 'too_long', message: `is more than ${MAX_ATTACHMENT} bytes` }];
    }
    const content = await buffer(archive.read(part));
    read.add(part.name);
    return await errorsOf(async () => {
      const type = await mediaTypeOf(String(row.name), content);
      if (type !== row.media_type) {
        throw invalidField('media_type', 'content_mismatch', `is not ${type}, which the content is`);
      }
    });
  });
}

const attachable: ReadonlySet<string> = new Set(Object.values(fileKinds).map(({ mimeType }) => mimeType));

/** The type of an attached file, or of a picture of the workspace, which may have other types. */
async function mediaTypeOf(name: string, content: Buffer): Promise<string> {
  try {
    const checked = await checkFile(name, content);
    if (checked.name === name) return checked.kind.mimeType;
  } catch (error) {
    const picture = content.length > MAX_IMAGE ? undefined : await pictureType(content);
    if (picture !== undefined && !attachable.has(picture)) return picture;
    throw error;
  }
  throw invalidField('name', 'format', 'is no name that a file of this kind has');
}

async function pictureType(content: Buffer): Promise<string | undefined> {
  try {
    return await identifyImage(content);
  } catch (error) {
    if (error instanceof EstateError) return undefined;
    throw error;
  }
}

/** Skips attachments whose name, type or size differ from their file, or whose file belongs to a user. */
export async function checkAttachments(checking: Checking): Promise<void> {
  await skipMatching(
    checking,
    'file_attachments',
    otherFile,
    fragment`cross join lateral (
         select f.name, f.media_type, f.size, f.owner_id from files f where f.id = (s.n).file_id
         union all
         select x.content ->> 'name', x.content ->> 'media_type', (x.content ->> 'size')::bigint, null
         from workspace_transfer_rows x where x.transfer_id = s.transfer_id and x.kind = 'files'
           and x.ref = (s.n).file_id::text and x.action = 'create'
       ) f
       where f.owner_id is not null
         or (f.name, f.media_type, f.size) is distinct from ((s.n).name, (s.n).mime_type, (s.n).size)`,
  );
}

const otherFile = {
  code: 'content_mismatch',
  field: 'file_id',
  message: 'file_id names a file of another name, type or size, or a file of a user',
};
