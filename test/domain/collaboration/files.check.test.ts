import ExcelJS from 'exceljs';
import { checkFile } from '../../../domain/collaboration/files/files.check.ts';
import { archive, jpeg, officeMembers, pdf, png, svg } from './samples.ts';

const text = (content: string) => Buffer.from(content);
const code = (name: string, content: Buffer) =>
  checkFile(name, content).then(
    (file) => `taken as ${file.kind.mimeType}`,
    (error) => `${error.code}: ${error.errors?.[0]?.code} ${error.errors?.[0]?.message}`,
  );

describe('a file is taken by its content', () => {
  it.each([
    ['plan.pdf', pdf, 'application/pdf'],
    ['photo.png', png, 'image/png'],
    ['photo.JPG', jpeg, 'image/jpeg'],
    ['photo.jpeg', jpeg, 'image/jpeg'],
    ['note.txt', text('Äpfel\n'), 'text/plain; charset=utf-8'],
    ['tree.txt', text('<a>not an image</a>'), 'text/plain; charset=utf-8'],
    ['image.svg', svg(), 'image/svg+xml'],
    ['image.svg', text(`\uFEFF<?xml version="1.0"?>\n${svg()}`), 'image/svg+xml'],
    ['a.docx', archive(officeMembers('docx')), /wordprocessingml/],
    ['a.xlsx', archive(officeMembers('xlsx')), /spreadsheetml/],
    ['a.pptx', archive(officeMembers('pptx')), /presentationml/],
  ])('%s', async (name, content, mimeType) => {
    const file = await checkFile(name, content);
    expect(file.name).toBe(name);
    expect(file.kind.mimeType).toMatch(mimeType);
  });

  it('and is what a real program has written', async () => {
    const book = new ExcelJS.Workbook();
    book.addWorksheet('A').addRow([1, 'two']);
    const content = Buffer.from(await book.xlsx.writeBuffer());
    expect((await checkFile('real.xlsx', content)).kind.mimeType).toMatch(/spreadsheetml/);
  });

  it('and gets an ending where it has none, and a name without a path', async () => {
    expect((await checkFile('C:\\temp\\plan', pdf)).name).toBe('plan.pdf');
    expect((await checkFile('../../etc/plan v1.2', pdf)).name).toBe('plan v1.2.pdf');
    expect((await checkFile('.pdf', pdf)).name).toBe('pdf.pdf');
    expect((await checkFile('a\u202Efdp.exe\n.pdf', pdf)).name).toBe('afdp.exe.pdf');
  });
});

describe('a file is refused', () => {
  it.each([
    ['a text called pdf', 'a.pdf', text('Hello'), /content_mismatch/],
    ['a page called page', 'a.html', text('<html></html>'), /content_mismatch/],
    ['an image called text', 'a.txt', png, /content_mismatch/],
    ['a program', 'a.exe', Buffer.from('4d5a90000300000004000000ffff0000', 'hex'), /unsupported_file/],
    ['a picture of another kind', 'a.gif', text('GIF89a\x01\x00\x01\x00\x00\x00\x00;'), /unsupported_file/],
    ['a text with NUL', 'a.txt', text('a\0b'), /unsupported_file/],
    ['a text that is not UTF-8', 'a.txt', Buffer.from([0x66, 0xfc, 0x72]), /unsupported_file/],
    ['nothing', 'a.txt', Buffer.alloc(0), /empty/],
    ['no name', '///', pdf, /required/],
    ['a long name', `${'a'.repeat(256)}.pdf`, pdf, /too_long/],
  ])('%s', async (_what, name, content, why) => expect(await code(name, content)).toMatch(why));

  it.each([
    ['a script', svg('<script>alert(1)</script>'), /script element/],
    ['a handler', svg('', 'onload="alert(1)"'), /attribute onload/],
    [
      'a frame with a document of its own',
      svg('<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="x"/></foreignObject>'),
      /iframe element/,
    ],
    ['an embedded document', svg('<g srcdoc="x"/>'), /attribute srcdoc/],
    ['a scripted link', svg('<a xlink:href="java&#10;script:alert(1)"><text>x</text></a>'), /runs a script/],
    ['a scripted animation', svg('<set attributeName="href" to="javascript:alert(1)"/>'), /runs a script/],
    [
      'an entity',
      text('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>'),
      /document type/,
    ],
    [
      'a style sheet',
      text('<?xml-stylesheet href="x"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
      /processing instruction/,
    ],
    ['another root', text('<html xmlns="http://www.w3.org/1999/xhtml"/>'), /root/],
    ['no namespace', text('<svg/>'), /root/],
    ['broken XML', text('<svg xmlns="http://www.w3.org/2000/svg"><g></svg>'), /unsupported_file/],
    ['endless nesting', svg('<g>'.repeat(300) + '</g>'.repeat(300)), /deep/],
  ])('an image with %s', async (_what, content, why) => expect(await code('a.svg', content)).toMatch(why));

  const members = officeMembers('docx');
  it.each([
    ['no office document', [{ name: 'a.txt', content: 'a' }], /no office document/],
    ['another document', officeMembers('docx', 'application/x-else'), /no text, spreadsheet/],
    [
      'macros by type',
      officeMembers('docx', 'application/vnd.ms-word.document.macroEnabled.main+xml'),
      /macros/,
    ],
    ['macros by name', [...members, { name: 'word/vbaProject.bin', content: 'x' }], /macros/],
    ['a way out', [...members, { name: '../../etc/passwd', content: 'x' }], /unsupported_file/],
    ['a part twice', [...members, members[0]!], /twice/],
    ['encryption', [...members, { name: 'x', content: 'x', flags: 1 }], /encrypted/],
    ['a bomb', [...members, { name: 'x', content: 'x', said: 0xf000_0000 }], /200 MiB/],
    [
      'many bombs',
      [
        ...members,
        ...Array.from({ length: 30 }, (_, n) => ({
          name: `x${n}`,
          content: Buffer.alloc(1),
          said: 10 * 1024 * 1024,
        })),
      ],
      /200 MiB/,
    ],
    [
      'a lie about the list of types',
      [{ ...members[0]!, content: Buffer.alloc(3_000_000, 0x20), said: 100 }, members[1]!],
      /unsupported_file/,
    ],
    [
      'a lie about another part',
      [...members, { name: 'word/big.xml', content: Buffer.alloc(3_000_000, 0x20), said: 100 }],
      /unsupported_file/,
    ],
    [
      'a document type',
      [
        ...members,
        { name: 'word/a.xml', content: '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a/>' },
      ],
      /document type/,
    ],
    [
      'too many parts',
      [...members, ...Array.from({ length: 10_000 }, (_, n) => ({ name: `p${n}`, content: '' }))],
      /parts/,
    ],
  ])('an archive with %s', async (_what, parts, why) => {
    expect(await code('a.docx', archive(parts))).toMatch(why);
  });

  it('an archive that breaks off', async () => {
    const whole = archive(members);
    expect(await code('a.docx', whole.subarray(0, whole.length - 30))).toMatch(/unsupported_file/);
    expect(await code('a.xlsx', whole)).toMatch(/content_mismatch/);
  });
});
