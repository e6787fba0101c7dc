/** A part could not be made into a Parquet file. Apart from the encoder, since the api process does without it. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
}
