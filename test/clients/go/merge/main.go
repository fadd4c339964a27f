// Merges as kubectl edit does: the strategic merge patch from base to edited, applied to the live object. One JSON line in, one out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type triple struct {
	Base   json.RawMessage `json:"base"`
	Edited json.RawMessage `json:"edited"`
	Live   json.RawMessage `json:"live"`
}

func merged(line []byte) ([]byte, error) {
	var given triple
	if err := json.Unmarshal(line, &given); err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(given.Base, given.Edited, appsv1.Deployment{})
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatch(given.Live, patch, appsv1.Deployment{})
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		result, err := merged(line)
		if err != nil {
			result, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		fmt.Println(string(result))
	}
}
