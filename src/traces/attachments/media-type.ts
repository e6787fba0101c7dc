/** A type and a subtype, each a token of RFC 6838; parameters are cut off where parts are read. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** The media type that an attachment is sent with: the one that its client named, where that can be a header. */
export const mediaTypeOf = (named: string): string => (MEDIA_TYPE.test(named) ? named : 'application/octet-stream');
