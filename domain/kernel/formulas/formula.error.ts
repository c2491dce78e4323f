/** A formula that cannot be read or computed; the message is for the one who wrote it. */
export class FormulaError extends Error {}
