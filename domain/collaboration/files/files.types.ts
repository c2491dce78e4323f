/** A kind of file that may be attached: its media type, and the endings that its name may have, the usual one first. */
export interface FileKind {
  mimeType: string;
  endings: readonly [string, ...string[]];
}

const office = 'application/vnd.openxmlformats-officedocument';

/** What may be attached to cards. */
export const fileKinds = {
  pdf: { mimeType: 'application/pdf', endings: ['pdf'] },
  docx: { mimeType: `${office}.wordprocessingml.document`, endings: ['docx'] },
  xlsx: { mimeType: `${office}.spreadsheetml.sheet`, endings: ['xlsx'] },
  pptx: { mimeType: `${office}.presentationml.presentation`, endings: ['pptx'] },
  png: { mimeType: 'image/png', endings: ['png'] },
  jpeg: { mimeType: 'image/jpeg', endings: ['jpg', 'jpeg'] },
  svg: { mimeType: 'image/svg+xml', endings: ['svg'] },
  txt: { mimeType: 'text/plain; charset=utf-8', endings: ['txt'] },
} as const satisfies Record<string, FileKind>;

export type FileKindKey = keyof typeof fileKinds;

/** The largest file that may be attached, in bytes: 10 MiB. */
export const MAX_ATTACHMENT = 10 * 1024 * 1024;
