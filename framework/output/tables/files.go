package tables

import (
	"encoding/csv"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/rlrun/rlrun/framework/result"
)

// writeParquet writes rows in groups of a million, compressed.
func writeParquet[T any](w io.Writer, rows iter.Seq2[[]T, error]) error {
	out := parquet.NewGenericWriter[T](w, parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(1<<20))
	for batch, err := range rows {
		if err != nil {
			return err
		}
		if _, err := out.Write(batch); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeCSV writes rows with a header.
func writeCSV[T any](w io.Writer, rows iter.Seq2[[]T, error]) error {
	out := csv.NewWriter(w)
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[T]()), func(f reflect.StructField) bool { return f.Anonymous })
	cells := make([]string, len(fields))
	for i, f := range fields {
		cells[i], _, _ = strings.Cut(f.Tag.Get("parquet"), ",")
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	for batch, err := range rows {
		if err != nil {
			return err
		}
		for i := range batch {
			row := reflect.ValueOf(&batch[i]).Elem()
			for k := range cells {
				cells[k] = cell(row.FieldByIndex(fields[k].Index))
			}
			if err := out.Write(cells); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func cell(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return result.CSVCell(v.String())
}
