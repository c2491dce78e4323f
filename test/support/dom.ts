// their types would bring those of a browser into every other file
const { DOMParser } = await import('@xmldom/xmldom' as string);

/** As much of an element as tests look at. */
export interface XmlElement {
  nodeType: number;
  tagName: string;
  localName: string;
  namespaceURI: string | null;
  childNodes: ArrayLike<XmlElement>;
  attributes: ArrayLike<{ name: string; localName: string | null }>;
  getAttribute(name: string): string | null;
  getAttributeNS(namespace: string, name: string): string | null;
  hasAttribute(name: string): boolean;
}

/** Whatever is no error is no matter: a text may well hold the sign that stands for lost ones. */
function refuse(level: string, message: string): void {
  if (level !== 'warning') throw new Error(message);
}

/** The root of a document, as a reader sees it that shares nothing with the service's own. */
export const rootOf = (xml: string): XmlElement =>
  new DOMParser({ onError: refuse }).parseFromString(xml, 'text/xml').documentElement;

/** The elements within one, in their order. */
export const childrenOf = ({ childNodes }: XmlElement): XmlElement[] =>
  Array.from(childNodes).filter(({ nodeType }) => nodeType === 1);
